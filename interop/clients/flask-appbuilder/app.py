"""A page for the role Reporter, with the security settings that docs/how-to/connect-with-groups.md prints."""

import os

import config
from flask import Flask
from flask_appbuilder import AppBuilder, BaseView, expose, has_access
from flask_appbuilder.utils.legacy import get_sqla_class
from flask_login import current_user

app = Flask(__name__)
app.config.from_object(config)
app.config["SECRET_KEY"] = os.urandom(32)
app.config["SQLALCHEMY_DATABASE_URI"] = "sqlite:///" + os.environ["DATABASE"]
app.config["FAB_ROLES"] = {"Reporter": [["Reports", "can_read"]]}
db = get_sqla_class()(app)


class Reports(BaseView):
    route_base = "/reports"

    @expose("/")
    @has_access
    def read(self):
        return {"roles": [role.name for role in current_user.roles]}


with app.app_context():
    appbuilder = AppBuilder(app, db.session, security_manager_class=config.CUSTOM_SECURITY_MANAGER)
    appbuilder.add_view_no_menu(Reports)
